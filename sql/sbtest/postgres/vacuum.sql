vacuum analyze sbtest{n};
