/** Starts the portal in the page that the API serves at `/portal/`. */
import { QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { createQueryClient } from '../api/use-api.ts'
import { loadDialogsLater } from '../parts/dialogs/dialog.tsx'
import { ownTrustedTypes } from '../shell/trusted-types.ts'
import '../styles/tokens.css'
import { PortalApp, takeToken } from './portal-app.tsx'

ownTrustedTypes('/portal/assets/')
const token = takeToken()
const root = document.getElementById('root')
if (root) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={createQueryClient()}>
        <PortalApp token={token} />
      </QueryClientProvider>
    </StrictMode>,
  )
  loadDialogsLater()
}
