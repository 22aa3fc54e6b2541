/** Shows who may do what, who is logged in, and who has changed what. */
import { getRouteApi } from '@tanstack/react-router'
import { words } from '../../i18n/en.ts'
import { Tabs } from '../../parts/tabs.tsx'
import { AuditTab } from './audit-tab.tsx'
import { KeysPage } from './keys-page.tsx'
import { SessionsTab } from './sessions-tab.tsx'

const w = words.access
const route = getRouteApi('/access')

export function AccessPage() {
  const { tab = 'keys' } = route.useSearch()
  const navigate = route.useNavigate()
  return (
    <Tabs
      label={w.title}
      selected={tab}
      onSelect={(next) => void navigate({ search: { tab: next }, replace: true })}
      tabs={[
        { id: 'keys', title: words.pages.keys, content: <KeysPage /> },
        { id: 'sessions', title: w.sessions, content: <SessionsTab /> },
        { id: 'audit', title: w.audit, content: <AuditTab /> },
      ]}
    />
  )
}
