/** The OpenAPI document, and a page that shows it. Everything the page loads comes from here. */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { Answer, Endpoint } from '../http/endpoint.ts'
import { endpoint } from '../http/endpoint.ts'
import { type ApiInfo, type Asked, openApiDocument } from '../http/openapi.ts'

const INFO: ApiInfo = {
  title: 'Fantail',
  version: '1',
  description: 'Publish a message once; every subscribed webhook and queue gets it.',
}

/** Scripts only from here; Scalar sets styles of its own at run time. */
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

/** `others` are all routes beside these. */
export function docsRoutes(others: Endpoint[], asked: Asked): Endpoint[] {
  const tag = 'Service'
  const page = (
    path: string,
    summary: string,
    contentType: string,
    text: () => Promise<string | Buffer> | string,
  ) =>
    endpoint({
      method: 'GET',
      path,
      tag,
      summary,
      answers: { 200: { description: summary, contentType } },
      errors: [],
      handle: async (): Promise<Answer> => {
        const headers = { ...PAGE_HEADERS, 'Content-Type': `${contentType}; charset=utf-8` }
        return { status: 200, text: await text(), headers }
      },
    })
  const routes: Endpoint[] = [
    page('/openapi.json', 'The OpenAPI document', 'application/json', () => documentText()),
    page('/docs', 'The documentation as a page', 'text/html', () => PAGE),
    page('/_assets/docs.js', 'Starts the documentation page', 'text/javascript', () => START),
    page('/_assets/scalar.js', 'Scalar, which renders the documentation', 'text/javascript', scalar),
  ]
  let document: string | undefined
  const documentText = () => {
    document ??= JSON.stringify(openApiDocument([...others, ...routes], INFO, asked))
    return document
  }
  return routes
}

let scalarText: Promise<Buffer> | undefined

/** Read at the first request, since most processes never show the page. */
function scalar(): Promise<Buffer> {
  scalarText ??= readFile(scalarPath())
  return scalarText
}

function scalarPath(): string {
  const require = createRequire(import.meta.url)
  return require.resolve('@scalar/api-reference').replace(/dist\/.*$/, 'dist/browser/standalone.js')
}
