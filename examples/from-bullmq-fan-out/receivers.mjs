/** Two receivers of webhooks on free ports: one works, and one fails twice before it works. */
import { createServer } from 'node:http'

export async function startReceivers(onMessage) {
  let failures = 2
  const shop = await start((body) => onMessage('shop', body))
  const flaky = await start((body) => {
    if (failures-- > 0) return 503
    return onMessage('flaky', body)
  })
  return { endpoints: [shop.url, flaky.url], close: () => [shop, flaky].map(({ server }) => server.close()) }
}

function start(answer) {
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text) => {
      body += text
    })
    request.on('end', () => response.writeHead(answer(body) ?? 204, { Connection: 'close' }).end())
  })
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () =>
      resolve({ server, url: `http://127.0.0.1:${server.address().port}/` }),
    )
  })
}
