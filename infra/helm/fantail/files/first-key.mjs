// Makes the first API keys and writes them into a Secret, which the chart makes empty. A key that Redis knows is left
// alone, so that the Job may run after every upgrade. After a restore Redis may not know a key, and the Job makes it
// anew. If a key cannot be written, it is revoked.
//
//   node first-key.mjs SECRET FIELD:SCOPE,SCOPE… -- words that run `fantail`
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { request } from 'node:https'

const ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount'
const words = process.argv.slice(2)
const end = words.indexOf('--')
const [secret, ...wanted] = words.slice(0, end)
const [program, ...before] = words.slice(end + 1)
const namespace = readFileSync(`${ACCOUNT}/namespace`, 'utf8').trim()

const { data = {} } = await call('GET')
const known = [...fantail('list').matchAll(/^\S+/gm)].map(([id]) => id)
for (const words of wanted) {
  const [field, scopes] = words.split(':')
  const token = Buffer.from(data[field] ?? '', 'base64').toString()
  if (known.includes(idOf(token))) console.log(`the Secret ${secret} has ${field} already`)
  else await make(field, scopes.split(','))
}

async function make(field, scopes) {
  const named = ['--name', `${secret}-${field}`, ...scopes.flatMap((scope) => ['--scope', scope])]
  const token = fantail('create', '--quiet', ...named)
  try {
    await call('PATCH', { stringData: { [field]: token } })
  } catch (error) {
    fantail('revoke', idOf(token))
    throw error
  }
  console.log(`wrote ${field} (${scopes.join(', ')}) to the Secret ${secret}`)
}

function idOf(token) {
  return /^ft_([^_]+)_/.exec(token)?.[1] ?? token
}

function fantail(...args) {
  const stdio = ['ignore', 'pipe', 'inherit']
  return execFileSync(program, [...before, 'keys', ...args], { encoding: 'utf8', stdio }).trim()
}

async function call(method, body) {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = process.env
  const token = readFileSync(`${ACCOUNT}/token`, 'utf8').trim()
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/merge-patch+json' }
  const path = `/api/v1/namespaces/${namespace}/secrets/${secret}`
  const ca = readFileSync(`${ACCOUNT}/ca.crt`)
  // A connection of the call before may have been closed while `fantail` ran.
  const asked = request({ host, port, path, method, headers, ca, agent: false })
  asked.end(body && JSON.stringify(body))
  const answer = await new Promise((resolve, reject) => asked.on('response', resolve).on('error', reject))
  const text = (await answer.toArray()).join('')
  if (answer.statusCode !== 200) throw new Error(`${method} ${path}: ${answer.statusCode} ${text}`)
  return JSON.parse(text)
}
