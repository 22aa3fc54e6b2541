/** Serves the pages, and makes a portal link for the customer who is logged in. */
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'

const { FANTAIL_URL = 'http://127.0.0.1:4100', FANTAIL_KEY, PORT = '3000' } = process.env
const TYPES = { html: 'text/html; charset=utf-8', js: 'text/javascript; charset=utf-8' }

/** Stands for your login: the customer that a request comes from. */
function customerOf() {
  return { name: 'Acme', topics: 'acme-' }
}

async function makeLink(customer) {
  const answer = await fetch(`${FANTAIL_URL}/v1/portal-links`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${FANTAIL_KEY}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({
      prefixes: [customer.topics],
      scopes: ['read', 'manage', 'redrive', 'bodies'],
      theme: { name: `Webhooks of ${customer.name}` },
    }),
  })
  const body = await answer.json()
  if (!answer.ok) throw new Error(`no link was made: ${body.error.message}`)
  return body.url
}

const server = createServer(async ({ method, url = '/' }, response) => {
  try {
    if (method === 'POST' && url === '/portal-link') {
      const link = { url: await makeLink(customerOf()) }
      response.writeHead(201, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' })
      response.end(JSON.stringify(link))
      return
    }
    const name = url === '/' ? 'index.html' : (/^\/([a-z]+\.(?:html|js))$/.exec(url)?.[1] ?? '')
    const file = await readFile(new URL(`public/${name}`, import.meta.url))
    response.writeHead(200, { 'Content-Type': TYPES[name.split('.')[1]] }).end(file)
  } catch (error) {
    const isMissing = error.code === 'ENOENT' || error.code === 'EISDIR'
    if (!isMissing) console.error(error.message)
    response.writeHead(isMissing ? 404 : 502).end()
  }
})

server.listen(Number(PORT), '127.0.0.1', () => console.log(`ready at http://127.0.0.1:${PORT}/`))
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    server.close(() => process.exit(0))
    server.closeAllConnections()
  })
}
