/**
 * Finds which master keys the running services hold. A service puts the ids of its keys into the name of its
 * connection, and Redis shows this name while the process is connected. So nothing has to be renewed, and nothing
 * remains when a process ends.
 */
import type { Redis } from 'ioredis'
import { mastersOf } from '../redis/connections/cluster.ts'

type KeyHolderService = 'api' | 'worker'

interface KeyHolder {
  service: KeyHolderService
  /** The connection's address, as Redis sees it. */
  address: string
  /** undefined: the process runs a release that does not name its keys. */
  keyIds: string[] | undefined
}

const KEYS = '/keys='
const CLIENT = /^.*\baddr=(\S+) .*\bname=fantail-(api|worker)(?:\/keys=([0-9a-f,]*))? .*$/gm

/** The name of a service's main connection. */
export function keyHolderName(service: KeyHolderService, keyIds: readonly string[] = []): string {
  return `fantail-${service}${KEYS}${keyIds.join(',')}`
}

/** Every connected API and worker. On a cluster, a process appears at each master that it is connected to. */
async function readKeyHolders(redis: Redis): Promise<KeyHolder[]> {
  const lists = await Promise.all(mastersOf(redis).map((master) => master.client('LIST')))
  return lists.flatMap((list) => [...String(list).matchAll(CLIENT)].map(holderOf))
}

function holderOf([, address = '', service, keys]: RegExpMatchArray): KeyHolder {
  return {
    service: service as KeyHolderService,
    address,
    keyIds: keys?.split(',').filter((id) => id !== ''),
  }
}

/** Some running services do not have the key, so they could not open secrets that it seals. */
export class MissingKeyError extends Error {
  constructor(keyId: string, lacking: KeyHolder[]) {
    super(
      `running services do not have master key ${keyId} (${[...new Set(lacking.map(described))].join('; ')}): give it to ` +
        'them as FANTAIL_MASTER_KEY or among FANTAIL_MASTER_KEYS_OLD, restart them, then run this again',
    )
    this.name = 'MissingKeyError'
  }
}

function described({ service, address, keyIds }: KeyHolder): string {
  if (keyIds === undefined)
    return `${service} at ${address} is of a release that does not say which keys it has`
  return `${service} at ${address} has ${keyIds.length === 0 ? 'none' : keyIds.join(', ')}`
}

/** Throws a MissingKeyError if a running service does not have the key. */
export async function refuseMissingKey(redis: Redis, keyId: string): Promise<void> {
  const holders = await readKeyHolders(redis)
  const lacking = holders.filter(({ keyIds }) => !keyIds?.includes(keyId))
  if (lacking.length > 0) throw new MissingKeyError(keyId, lacking)
}
