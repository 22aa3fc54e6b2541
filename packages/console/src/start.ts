/**
 * Starts the console in the page that the API serves. The code of the first page and its data are requested here,
 * together with the libraries, so that none of them waits for another.
 */
import { operations } from './api/api-calls.ts'
import { readEarly } from './api/early-reads.ts'
import { lanesInput } from './routes/lanes/lanes-query.ts'
import { ownTrustedTypes } from './shell/trusted-types.ts'
import './styles/tokens.css'

/** The pages that are opened first, by their addresses. */
const FIRST_PAGES = new Map([
  [
    '/console/',
    () => {
      readEarly(operations.getOverview, {})
      void import('./routes/overview/overview-page.tsx')
    },
  ],
  [
    '/console/lanes',
    () => {
      readEarly(operations.listLanes, lanesInput({ sort: 'worst' }), { isPaged: true })
      void import('./routes/lanes/lanes-page.tsx')
    },
  ],
])

ownTrustedTypes('/console/assets/')
readEarly(operations.getSession, {})
FIRST_PAGES.get(location.pathname + location.search)?.()
void import('./main.tsx')
