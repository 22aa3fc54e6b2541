/** A small part of Kubernetes for tests of the chart: the Secret of one namespace, over TLS, as a pod reaches it. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createAuthority } from '@fantail/test-kit'

const ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount'
export const CHART = fileURLToPath(new URL('../../infra/helm/fantail/', import.meta.url))

export interface TestKubernetes {
  /** Deleted at the end. */
  folder: string
  /** Variables that every pod gets. */
  env: Record<string, string>
  /** The data of the Secret, decoded. */
  secret: Map<string, string>
  /** Whether writes are refused. */
  refuses: boolean
  /** The path of a script of the chart, as a pod has it. */
  script(name: string): Promise<string>
  stop(): Promise<void>
}

export async function startKubernetes(secretName: string): Promise<TestKubernetes> {
  const folder = await mkdtemp(join(tmpdir(), 'fantail-pod-'))
  const authority = createAuthority()
  const secret = new Map<string, string>()
  const path = `/api/v1/namespaces/shop/secrets/${secretName}`
  const server = createServer(authority.issue(['127.0.0.1']), async (request, response) => {
    const text = (await request.toArray()).join('')
    const isKnown = request.url === path && request.headers.authorization === 'Bearer of-the-account'
    const status = !isKnown || (request.method !== 'GET' && kubernetes.refuses) ? 403 : 200
    if (status === 200 && request.method === 'PATCH') {
      const { stringData } = JSON.parse(text) as { stringData: Record<string, string> }
      for (const [field, value] of Object.entries(stringData)) secret.set(field, value)
    }
    const data = Object.fromEntries([...secret].map(([field, value]) => [field, btoa(value)]))
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ data }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const files = { namespace: 'shop\n', token: 'of-the-account', 'ca.crt': authority.cert }
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  const { port } = server.address() as AddressInfo
  const kubernetes: TestKubernetes = {
    folder,
    env: { KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: String(port) },
    secret,
    refuses: false,
    async script(name) {
      const text = await readFile(join(CHART, 'files', name), 'utf8')
      await writeFile(join(folder, name), text.replaceAll(ACCOUNT, folder))
      return join(folder, name)
    },
    async stop() {
      await new Promise((resolve) => server.close(resolve))
      await rm(folder, { recursive: true })
    },
  }
  return kubernetes
}
