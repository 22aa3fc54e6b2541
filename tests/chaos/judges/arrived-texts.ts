/** The messages that arrived at an endpoint, whatever its kind. */
import type { World } from '../world/world.ts'

const QUEUE = 'worked'

interface Texts {
  has(text: string): boolean
}

/** `worked`: what the consumer of the queue has received. All other endpoints without a provider are webhooks. */
export function arrivals({ providers, receiver }: World, worked: Texts): (name: string) => Texts {
  const records = providers.records()
  const webhooks = new Map<string, Set<string>>()
  for (const { path, text } of receiver.requests) {
    const name = path.slice(1)
    const texts = webhooks.get(name) ?? new Set()
    webhooks.set(name, texts.add(text))
  }
  return (name) => (name === QUEUE ? worked : (records[name]?.delivered ?? webhooks.get(name) ?? new Set()))
}
