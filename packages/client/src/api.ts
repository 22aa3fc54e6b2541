/** Every operation of the API as a function with its types, made from the OpenAPI document. */
import { type Client, type Config, createClient as createGeneratedClient } from './generated/client/index.ts'

export * from './generated/index.ts'
export { SETTINGS } from './generated/settings.gen.ts'
export type { Client, Config }

/** A client to give to the functions. It throws the API's error body, as the types of the functions say. */
export function createClient(config: Config): Client {
  return createGeneratedClient({ throwOnError: true, ...config })
}
