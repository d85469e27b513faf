-- Everything onto the disk, so that no test pays for the one before it.
checkpoint;
