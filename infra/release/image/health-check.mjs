// @ts-check
/**
 * A program for `node -e`: it ends with 0 if at least one service listens in the container, and each that does is
 * ready. A container of one role has one port, and `all` has three.
 */
export const HEALTH_CHECK = `
const { FANTAIL_PORT: api = 4100, FANTAIL_OPS_PORT: own } = process.env
const ports = own ? [api, own] : [0, 1, 2].map((place) => Number(api) + place)
const asked = ports.map((port) => fetch('http://127.0.0.1:' + port + '/readyz'))
Promise.allSettled(asked).then((answers) => {
  const listening = answers.filter(({ status }) => status === 'fulfilled')
  process.exit(listening.length > 0 && listening.every(({ value }) => value.ok) ? 0 : 1)
})`
