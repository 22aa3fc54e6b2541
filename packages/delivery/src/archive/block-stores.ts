/** Opens the place of archives that the operator has set (FANTAIL_ARCHIVE). */
import { fileURLToPath } from 'node:url'
import type { AwsCredentials } from '../aws/aws-credentials.ts'
import { createHttpSender } from '../http/http-sender.ts'
import { bucketOf, bucketSigner } from '../streams/stream-places.ts'
import { BlockBucket } from './block-bucket.ts'
import { BlockFolder } from './block-folder.ts'

interface BlockStoreOptions {
  /** `file:///folder`, or a bucket as stream-places.ts reads it. */
  url: string
  credentials?: AwsCredentials | undefined
  /** Epoch ms. */
  clock: () => number
}

export interface OpenBlockStore {
  put(name: string, data: Buffer): Promise<void>
  get(name: string): Promise<Buffer | null>
  remove(name: string): Promise<void>
  /** Closes its connections. */
  close(): Promise<void>
}

/** Throws if credentials for the bucket are not set. */
export function openBlockStore({ url: text, credentials, clock }: BlockStoreOptions): OpenBlockStore {
  const url = new URL(text)
  if (url.protocol === 'file:') return closing(new BlockFolder(fileURLToPath(url)), async () => undefined)
  const place = bucketOf(url)
  const aws = bucketSigner(url, credentials)
  if (!place || !aws) throw new TypeError('AWS credentials for the bucket of archives are not set')
  const sender = createHttpSender({ allowPrivate: true })
  return closing(new BlockBucket({ ...place, aws, sender, clock }), () => sender.close(0))
}

function closing(store: Omit<OpenBlockStore, 'close'>, close: () => Promise<void>): OpenBlockStore {
  return {
    put: (name, data) => store.put(name, data),
    get: (name) => store.get(name),
    remove: (name) => store.remove(name),
    close,
  }
}
