select origin, scale, carried, tellers_ahead, other_truncations, 0 from dbload_state;
