/** Where an operator may see a fault: readiness, verdicts on lanes, or a health check without an answer. */
import type { Subscribed } from '../inputs/chaos-endpoint.ts'
import type { ProcessLabel } from '../plan/fault-plan.ts'
import type { World } from '../world/world.ts'

export interface Operator {
  world: World
  subscriptions: Map<string, Subscribed>
}

/** Resolves with what the operator sees. Empty: nothing. */
export type Sign = (operator: Operator) => Promise<string>

const ASK_TIMEOUT_MS = 5_000
const IN_NEED = /^(failing|hung|misconfigured|undispatched)$/

/** The process's `/readyz` has this text. */
export function readiness(of: ProcessLabel, text: string): Sign {
  return async ({ world }) => {
    const { url } = serviceOf(world, of)
    const body = await ask(`${url}/readyz`)
    return body.includes(text) ? `${of} /readyz: ${text}` : ''
  }
}

/** The process does not answer its health check, so that its supervisor restarts it. */
export function silence(of: ProcessLabel): Sign {
  return async ({ world }) => {
    const body = await ask(`${serviceOf(world, of).url}/healthz`)
    return body === '' ? `${of} /healthz: no answer` : ''
  }
}

/** The lanes of all these endpoints have a verdict that needs attention. */
export function verdicts(...names: string[]): Sign {
  return async ({ world, subscriptions }) => {
    const codes = await Promise.all(
      names.map(async (name) => {
        const path = `/v1/subscriptions/${subscriptions.get(name)?.id}`
        const { verdict } = await world.clients[0].get<{ verdict: { code: string } }>(path)
        return verdict.code
      }),
    )
    return codes.every((code) => IN_NEED.test(code)) ? `verdicts: ${codes.join(' ')}` : ''
  }
}

export function serviceOf({ services }: World, label: ProcessLabel) {
  const service = services.find((each) => each.label === label)
  if (!service) throw new RangeError(`no service ${label}`)
  return service
}

/** The text of any answer. '' if there is none. */
async function ask(url: string): Promise<string> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(ASK_TIMEOUT_MS) })
    return await response.text()
  } catch {
    return ''
  }
}
