/** Event types that an endpoint gets: names, and patterns such as `order.*` for all names below `order.`. */

/** Whether an endpoint with these names and patterns gets the type. null: it gets every message. */
export function getsType(chosen: readonly string[] | null, name: string): boolean {
  return chosen === null || chosen.some((one) => matches(one, name))
}

function matches(pattern: string, name: string): boolean {
  if (pattern === '*') return true
  return pattern.endsWith('.*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern
}

export interface TypeGroup {
  /** `order` for `order.*`; '' for names that stand alone. */
  prefix: string
  names: string[]
}

/** Names by their first segment. A segment with a single name is no group. */
export function groupsOfTypes(names: readonly string[]): TypeGroup[] {
  const byPrefix = Map.groupBy(names, (name) => name.split('.', 1)[0] ?? '')
  const isGroup = (prefix: string, own: readonly string[]) =>
    own.filter((name) => name.startsWith(`${prefix}.`)).length > 1
  const groups = [...byPrefix].filter(([prefix, own]) => isGroup(prefix, own))
  const grouped = new Set(groups.flatMap(([, own]) => own))
  const alone = names.filter((name) => !grouped.has(name))
  const found = groups.map(([prefix, own]) => ({ prefix, names: own }))
  return alone.length === 0 ? found : [...found, { prefix: '', names: alone }]
}

/** The choice with or without one name or pattern. A pattern replaces the names that it matches. */
export function withChoice(chosen: readonly string[], one: string, isChosen: boolean): string[] {
  const others = chosen.filter((other) => other !== one)
  return isChosen ? [...others.filter((other) => !matches(one, other)), one] : others
}
