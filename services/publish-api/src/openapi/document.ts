/** The OpenAPI 3.1 document, made from the mounted endpoints. */
import { type Endpoint, TAGS } from '../http/endpoint.ts'
import { componentSchemas, type Json } from './component-schemas.ts'
import { INTRODUCTION } from './introduction.ts'
import { type Asked, operation, SECURITY_SCHEMES } from './operations.ts'
import { HEADERS, type Shared } from './responses.ts'
import { webhooks } from './webhook-requests.ts'

const INFO = {
  title: 'Fantail',
  version: '1',
  summary: 'Publish a message once; every subscribed webhook and queue gets it.',
  description: INTRODUCTION,
  license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
}

const SERVERS = [{ url: '/', description: 'The server that this document comes from.' }]

export function openApiDocument(endpoints: Endpoint[], asked: Asked): Json {
  const paths: Record<string, Json> = {}
  const shared: Shared = { responses: {}, examples: {} }
  for (const endpoint of endpoints) {
    const operations = paths[endpoint.path] ?? {}
    operations[endpoint.method.toLowerCase()] = operation(endpoint, asked, shared)
    paths[endpoint.path] = operations
  }
  return {
    openapi: '3.1.0',
    info: INFO,
    servers: SERVERS,
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    webhooks: webhooks(),
    components: {
      schemas: componentSchemas(),
      ...shared,
      headers: HEADERS,
      securitySchemes: SECURITY_SCHEMES,
    },
  }
}
