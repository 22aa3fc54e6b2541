/** The OpenAPI document, and a page that shows it. The page loads everything from this server. */
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import type { Answer, Endpoint } from '../http/endpoint.ts'
import { endpoint } from '../http/endpoint.ts'
import { openApiDocument } from './document.ts'
import type { Asked } from './operations.ts'

/** Only scripts of this origin. Styles may be inline, because Scalar makes its own at run time. */
const POLICY = [
  "default-src 'self'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ')

const PAGE_HEADERS = {
  'Content-Security-Policy': POLICY,
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cache-Control': 'public, max-age=300',
}

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Fantail API</title>
</head>
<body>
<div id="app"></div>
<script src="/_assets/scalar.js"></script>
<script src="/_assets/docs.js"></script>
</body>
</html>
`

const START = `Scalar.createApiReference('#app', {
  url: '/openapi.json',
  baseServerURL: location.origin,
  cdn: '/_assets/scalar.js',
  withDefaultFonts: false,
  telemetry: false,
  showDeveloperTools: 'never',
  hideClientButton: true,
  agent: { disabled: true },
  mcp: { disabled: true },
})
`

interface Page extends Pick<Endpoint, 'id' | 'path' | 'summary' | 'description'> {
  contentType: string
  text: () => Promise<string | Buffer> | string
}

/** `others`: all routes except these. */
export function docsRoutes(others: Endpoint[], asked: Asked): Endpoint[] {
  const page = ({ contentType, text, ...documented }: Page) =>
    endpoint({
      ...documented,
      method: 'GET',
      tag: 'Service',
      answers: { 200: { description: 'The whole file; browsers may cache it for 5 minutes.', contentType } },
      handle: async (): Promise<Answer> => {
        const headers = { ...PAGE_HEADERS, 'Content-Type': `${contentType}; charset=utf-8` }
        return { status: 200, text: await text(), headers }
      },
    })
  const routes: Endpoint[] = [
    page({
      id: 'getOpenApiDocument',
      path: '/openapi.json',
      summary: 'The OpenAPI document',
      description: 'This document, in OpenAPI 3.1. It is made from the routes that the server has.',
      contentType: 'application/json',
      text: () => documentText(),
    }),
    page({
      id: 'getDocsPage',
      path: '/docs',
      summary: 'The documentation as a page',
      description:
        'Shows the OpenAPI document in a browser. Everything the page loads comes from this server.',
      contentType: 'text/html',
      text: () => PAGE,
    }),
    page({
      id: 'getDocsScript',
      path: '/_assets/docs.js',
      summary: 'Starts the documentation page',
      description: 'A script of the documentation page, which says where the document is.',
      contentType: 'text/javascript',
      text: () => START,
    }),
    page({
      id: 'getDocsRenderer',
      path: '/_assets/scalar.js',
      summary: 'Scalar, which renders the documentation',
      description: 'A script of the documentation page, of several megabytes.',
      contentType: 'text/javascript',
      text: scalar,
    }),
  ]
  let document: string | undefined
  const documentText = () => {
    document ??= JSON.stringify(openApiDocument([...others, ...routes], asked))
    return document
  }
  return routes
}

let scalarText: Promise<Buffer> | undefined

/** Read at the first request, because most processes never show the page. */
function scalar(): Promise<Buffer> {
  scalarText ??= readFile(scalarPath())
  return scalarText
}

/** A bundle has the file next to the place of this one, without packages. */
function scalarPath(): string {
  const packed = fileURLToPath(new URL('./scalar.js', import.meta.url))
  if (existsSync(packed)) return packed
  const require = createRequire(import.meta.url)
  return require.resolve('@scalar/api-reference').replace(/dist\/.*$/, 'dist/browser/standalone.js')
}
