/** What push attempts read of platform applications and endpoints, and change in them. */
import type { PlatformApplicationRecord, PlatformEndpointRecord } from '@fantail/contracts'
import type { Redis } from 'ioredis'
import { PlatformApplications } from './platform-applications.ts'
import { PlatformEndpoints } from './platform-endpoints.ts'

interface PushStateOptions {
  /** An endpoint was disabled. */
  onDisabled(endpoint: PlatformEndpointRecord, application: PlatformApplicationRecord): void
  /** Called where an endpoint could not be disabled. */
  onProblem(error: unknown): void
}

export class PushState {
  readonly #applications: PlatformApplications
  readonly #endpoints: PlatformEndpoints
  readonly #options: PushStateOptions

  constructor(redis: Redis, options: PushStateOptions) {
    this.#applications = new PlatformApplications(redis)
    this.#endpoints = new PlatformEndpoints(redis)
    this.#options = options
  }

  application(arn: string): Promise<PlatformApplicationRecord | null> {
    return this.#applications.get(arn)
  }

  endpoint(arn: string): Promise<PlatformEndpointRecord | null> {
    return this.#endpoints.get(arn)
  }

  /** The delivery has ended either way, so a failure is reported and changes nothing. */
  async disable(endpoint: PlatformEndpointRecord, application: PlatformApplicationRecord): Promise<void> {
    const { onDisabled, onProblem } = this.#options
    try {
      if (await this.#endpoints.disable(endpoint.arn, endpoint.token)) onDisabled(endpoint, application)
    } catch (error) {
      onProblem(error)
    }
  }
}
