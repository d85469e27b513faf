-- Writes every changed page of the table, so that no test pays for the one before it.
flush tables sbtest{n} for export;
unlock tables;
