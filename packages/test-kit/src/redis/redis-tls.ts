/**
 * Certificates for Redis over TLS: a new authority, and two certificates of it, one for servers and one for clients.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAuthority, type TestCertificate } from '../network/tls-certificates.ts'

/** The client's TLS settings, as PEM texts and as files. */
export interface TestTls {
  pem: { ca: string; cert: string; key: string; servername?: string }
  files: { ca: string; cert: string; key: string }
  server: { cert: string; key: string }
  remove(): Promise<void>
}

/** Certificates for servers on loopback. With a name, the servers' certificate is only for that name. */
export async function createTestTls(servername?: string): Promise<TestTls> {
  const dir = await mkdtemp(join(tmpdir(), 'fantail-tls-'))
  const authority = createAuthority()
  const client = authority.issue(['fantail'])
  const ca = join(dir, 'ca.pem')
  await writeFile(ca, authority.cert)
  return {
    pem: { ca: authority.cert, ...client, ...(servername && { servername }) },
    files: { ca, ...(await writePair(dir, 'client', client)) },
    server: await writePair(dir, 'server', authority.issue([servername ?? '127.0.0.1'])),
    remove: () => rm(dir, { recursive: true, force: true }),
  }
}

async function writePair(dir: string, name: string, pair: TestCertificate) {
  const files = { cert: join(dir, `${name}.pem`), key: join(dir, `${name}.key`) }
  await Promise.all([writeFile(files.cert, pair.cert), writeFile(files.key, pair.key)])
  return files
}

/** Settings of a server that only speaks TLS, to clients, replicas, other nodes and Sentinels. */
export function tlsSettings(port: number, { server, files }: TestTls): [name: string, value: string][] {
  return [
    ['port', '0'],
    ['tls-port', String(port)],
    ['tls-cert-file', server.cert],
    ['tls-key-file', server.key],
    ['tls-ca-cert-file', files.ca],
    ['tls-replication', 'yes'],
    ['tls-cluster', 'yes'],
  ]
}

export function tlsWords(port: number, tls: TestTls): string[] {
  return tlsSettings(port, tls).flatMap(([name, value]) => [`--${name}`, value])
}

/** TLS options of ioredis. */
export function clientTls(tls: TestTls | undefined) {
  return tls ? { tls: tls.pem } : {}
}
