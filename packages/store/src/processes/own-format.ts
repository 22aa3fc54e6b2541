/**
 * The data that this release knows. It reads every format from `oldest` to `newest`, and writes the format that is in
 * effect. `capabilities` are names of further ways to store things, each of which it uses only when it is in effect
 * (data-format.ts).
 */
export interface OwnFormat {
  oldest: number
  newest: number
  capabilities: readonly string[]
}

export const OWN_FORMAT: OwnFormat = { oldest: 1, newest: 1, capabilities: [] }
