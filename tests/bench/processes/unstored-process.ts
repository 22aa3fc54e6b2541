/** Serves the publish route that stores nothing. */
import { listen } from '@fantail/publish-api'
import { makeObjectsYoung } from '@fantail/runtime'
import { answer } from './ipc.ts'
import { unstoredApp } from './unstored-app.ts'

// The services do so too.
makeObjectsYoung()
const server = await listen(unstoredApp(), { host: '127.0.0.1', port: 0 })
answer({ port: () => server.port }, () => server.close())
