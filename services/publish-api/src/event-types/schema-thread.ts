/** The thread that compiles schemas (schema-compiler.ts). It does nothing else, and may be ended at any time. */
import { parentPort } from 'node:worker_threads'
import { compileSchema, type SchemaJob } from './schema-code.ts'

parentPort?.on('message', (job: SchemaJob) => parentPort?.postMessage(compileSchema(job)))
parentPort?.postMessage('ready')
