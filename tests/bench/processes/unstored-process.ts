/** Serves the publish route that stores nothing. */
import { listen } from '@fantail/publish-api'
import { answer } from './ipc.ts'
import { unstoredApp } from './unstored-app.ts'

const server = await listen(unstoredApp(), { host: '127.0.0.1', port: 0 })
answer({ port: () => server.port }, () => server.close())
