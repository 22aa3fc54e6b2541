-- The end of the lease of a queue that is being deleted. No receive renews it, and every sweep continues the deletion.
local DELETING = 0
