/** Starts the console in the page that the API serves. */
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { createQueryClient } from './api/use-api.ts'
import { loadDialogsLater } from './parts/dialogs/dialog.tsx'
import { createConsoleRouter } from './router.tsx'
import { applyTheme } from './shell/theme.ts'
import { ownTrustedTypes } from './shell/trusted-types.ts'
import './styles/tokens.css'

ownTrustedTypes('/console/assets/')
applyTheme()
const root = document.getElementById('root')
if (root) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={createQueryClient()}>
        <RouterProvider router={createConsoleRouter()} />
      </QueryClientProvider>
    </StrictMode>,
  )
  loadDialogsLater()
}
