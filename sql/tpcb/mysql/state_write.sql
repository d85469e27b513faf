delete from dbload_state;
insert into dbload_state (origin, scale, history_id, history_file, carried, tellers_ahead, other_truncations)
values ('{origin}', {scale}, 0, 0, {carried}, {tellers_ahead}, 0);
