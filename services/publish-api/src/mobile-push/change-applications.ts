/** Makes and changes platform applications, for both APIs. Credentials are sealed. */
import {
  FantailError,
  type Platform,
  type PlatformApplicationRecord,
  type PlatformCredential,
} from '@fantail/contracts'
import { NoVaultError, openPlatformCredential, sealPlatformCredential } from '@fantail/delivery'
import { VaultError } from '@fantail/vault'
import type { ApiDeps } from '../deps/api-deps.ts'
import { deleteDirectTopics } from '../direct/publish-direct.ts'
import { checkEventTopics, readApplicationAttributes, withSettings } from './application-settings.ts'
import { credentialAttributes, readCredential } from './platform-credentials.ts'

type Tools = Pick<ApiDeps, 'platformApplications' | 'topics' | 'topicCache' | 'vault' | 'log' | 'clock'>

interface Wanted {
  arn: string
  platform: Platform
  /** By the names of SNS. */
  attributes: Record<string, string>
  requestId: string
}

interface Made {
  application: PlatformApplicationRecord
  created: boolean
  /** The application existed, with the wanted attributes. */
  isSame: boolean
}

/** Throws an AttributeError if an attribute is wrong. An existing application stays unchanged. */
export async function createApplication(deps: Tools, wanted: Wanted): Promise<Made> {
  const { arn, platform, requestId } = wanted
  const read = readApplicationAttributes(wanted.attributes)
  const credential = readCredential(platform, read.credential)
  await checkEventTopics(read, (topic) => deps.topics.get(topic))
  const attributes = withSettings({ Enabled: 'true' }, read.settings)
  const sealed = sealing(() => sealPlatformCredential(credential, { arn }, deps.vault))
  const record = { arn, platform, sealed, attributes, createdAt: deps.clock() }
  const { application, created } = await deps.platformApplications.create(record)
  if (created) deps.log.info({ requestId, applicationArn: arn }, 'push.application_created')
  const isSame = created || isSameApplication(deps, application, { credential, attributes })
  return { application, created, isSame }
}

/** Throws an AttributeError, or `not_found`. */
export async function changeApplication(
  deps: Tools,
  { arn, platform, attributes, requestId }: Wanted,
): Promise<PlatformApplicationRecord> {
  const read = readApplicationAttributes(attributes)
  await checkEventTopics(read, (topic) => deps.topics.get(topic))
  const changed = await deps.platformApplications.update(arn, (current) => ({
    ...current,
    attributes: withSettings(current.attributes, read.settings),
    ...(Object.keys(read.credential).length > 0 && {
      sealed: resealed(deps, current, { platform, given: read.credential }),
    }),
  }))
  const members = Object.keys(attributes)
  deps.log.info({ requestId, applicationArn: arn, members }, 'push.application_changed')
  return changed
}

/**
 * Deletes the application with its endpoints and its waiting direct messages, if there are any. After a crash in
 * between, repeating the request does the rest.
 */
export async function deleteApplication(
  deps: Pick<Tools, 'platformApplications' | 'topics' | 'topicCache' | 'log'>,
  arn: string,
  requestId: string,
): Promise<void> {
  const deleted = await deps.platformApplications.delete(arn)
  if (deleted) deps.log.info({ requestId, applicationArn: arn }, 'push.application_deleted')
  await deleteDirectTopics(deps, arn)
}

/** Members of the credential that are not given stay. */
function resealed(
  { vault }: Pick<Tools, 'vault'>,
  current: PlatformApplicationRecord,
  { platform, given }: { platform: Platform; given: Record<string, string> },
): string {
  return sealing(() => {
    const before = credentialAttributes(openPlatformCredential(current, vault))
    return sealPlatformCredential(readCredential(platform, { ...before, ...given }), current, vault)
  })
}

function isSameApplication(
  { vault }: Pick<Tools, 'vault'>,
  { attributes, ...record }: PlatformApplicationRecord,
  wanted: { credential: PlatformCredential; attributes: Record<string, string> },
): boolean {
  const credential = sealing(() => openPlatformCredential(record, vault))
  return (
    isSameMap(credentialAttributes(credential), credentialAttributes(wanted.credential)) &&
    isSameMap(attributes, wanted.attributes)
  )
}

function isSameMap(one: Record<string, string>, other: Record<string, string>): boolean {
  const names = Object.keys(one)
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name])
}

function sealing<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof NoVaultError || error instanceof VaultError)) throw error
    if (error instanceof VaultError && error.code === 'lockedKey') throw error
    throw new FantailError('not_supported', error.message, { cause: error })
  }
}
