\startpipeline
SELECT 1;
\syncpipeline
SELECT :client_id;
\endpipeline
\setshell v echo :client_id ::x
\shell true
\sleep :v us
