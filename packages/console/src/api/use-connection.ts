/** Whether the console reaches the API, for screens. */
import { useSyncExternalStore } from 'react'
import { type Connection, currentConnection, subscribeToConnection } from './liveness.ts'

export function useConnection(): Connection {
  return useSyncExternalStore(subscribeToConnection, currentConnection)
}
