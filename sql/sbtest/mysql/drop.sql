drop table sbtest{n};
