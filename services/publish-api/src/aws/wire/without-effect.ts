/**
 * Logs settings of AWS clients that Fantail stores but does not act on. A call with such a setting succeeds, so its
 * caller would not notice. Therefore the API logs these settings once per resource. docs/aws-without-effect.md has the
 * same list.
 */
import { type AttributedKind, withoutEffect } from '@fantail/policy'
import type { Log } from '../../http/log.ts'

/** Resources whose logged settings a process remembers. Past it: all are forgotten, and a line may be logged again. */
const LOGGED_RESOURCES_MAX = 10_000

export class WithoutEffectLog {
  readonly #log: Pick<Log, 'warn'>
  readonly #logged = new Map<string, Set<string>>()

  constructor(log: Pick<Log, 'warn'>) {
    this.#log = log
  }

  /** Logs the settings that were not logged for this resource before. */
  note(kind: AttributedKind, arn: string, given: Record<string, string>): void {
    const found = withoutEffect(kind, given)
    const before = this.#logged.get(arn) ?? new Set<string>()
    if (found.every((what) => before.has(what))) return
    if (this.#logged.size >= LOGGED_RESOURCES_MAX) this.#logged.clear()
    this.#logged.set(arn, new Set([...before, ...found]))
    const detail = `accepted and kept, without effect: ${found.join(', ')}; see docs/aws-without-effect.md`
    this.#log.warn({ [`${kind}Arn`]: arn, attributes: found, detail }, `${kind}.without_effect`)
  }
}
