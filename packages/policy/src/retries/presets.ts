/** Named retry curves of the native API. A preset is shorthand: a policy is stored with its numbers. */
import type { RetryPolicy } from '@fantail/contracts'

interface Preset {
  description: string
  policy: RetryPolicy
}

export const PRESETS: Record<string, Preset> = {
  quick: {
    description: 'About a minute, growing: for messages that are worth little when they come late.',
    policy: {
      minDelayTarget: 1,
      maxDelayTarget: 30,
      numRetries: 6,
      numNoDelayRetries: 0,
      numMinDelayRetries: 0,
      numMaxDelayRetries: 0,
      backoffFunction: 'exponential',
    },
  },
  steady: {
    description: 'About an hour, growing: for a restart or a deployment of the endpoint.',
    policy: {
      minDelayTarget: 5,
      maxDelayTarget: 600,
      numRetries: 15,
      numNoDelayRetries: 0,
      numMinDelayRetries: 0,
      numMaxDelayRetries: 3,
      backoffFunction: 'geometric',
    },
  },
  patient: {
    description: 'About a day, growing: for an outage that a person has to fix.',
    policy: {
      minDelayTarget: 5,
      maxDelayTarget: 3_600,
      numRetries: 40,
      numNoDelayRetries: 0,
      numMinDelayRetries: 0,
      numMaxDelayRetries: 20,
      backoffFunction: 'geometric',
    },
  },
}

export function presetOf(name: unknown): Preset | undefined {
  return typeof name === 'string' && Object.hasOwn(PRESETS, name) ? PRESETS[name] : undefined
}
