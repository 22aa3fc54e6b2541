/** Draws the console once the code of the page and its first data are there. Until then the page says that it loads. */
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { createQueryClient, keepEarlyReads } from './api/use-api.ts'
import { loadDialogsLater } from './parts/dialogs/dialog.tsx'
import { createConsoleRouter } from './router.tsx'
import { applyTheme } from './shell/theme.ts'

const queries = createQueryClient()
const router = createConsoleRouter()

/** Wait for the data of the first page. Past it: the page is drawn without data. */
const FIRST_DATA_MS_MAX = 500

async function draw(root: HTMLElement): Promise<void> {
  const tooLate = new Promise((resolve) => setTimeout(resolve, FIRST_DATA_MS_MAX))
  // Drawing once is quicker than drawing the frame, the page and its data one after another. A failure is drawn too.
  await Promise.allSettled([Promise.race([keepEarlyReads(queries), tooLate]), router.load()])
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  )
  loadDialogsLater()
}

applyTheme()
const root = document.getElementById('root')
if (root) void draw(root)
