-- When a lease ends by the clock that runs since the boot of its machine, which nobody can set.
ALTER TABLE job ADD COLUMN lease_clock INTEGER;
ALTER TABLE lock ADD COLUMN lease_clock INTEGER;
