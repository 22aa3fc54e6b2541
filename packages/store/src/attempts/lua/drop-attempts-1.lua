-- Removes the recorded attempts of subscriptions.
-- @key base: of the recorded attempts
-- @list subscriptions
-- @item subscription: text
-- Returns 1
-- @include attempt-share
-- @include when-full
run_when_full(base)
for subscription in subscriptions() do drop_share(base, subscription) end
return 1
