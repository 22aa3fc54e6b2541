/**
 * Begins the name of a credential that is an endpoint's access token. Lanes that wait for one have the cause `noToken`,
 * in scripts too (lane-blocked.lua).
 */
export const TOKEN_CREDENTIAL = 'oauth:'
