/** Starts the portal in the page that the API serves at `/portal/`, in the language of the customer. */
import { QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { createQueryClient } from '../api/use-api.ts'
import { LanguageProvider, loadLanguage } from '../i18n/portal/portal-language.ts'
import { loadDialogsLater } from '../parts/dialogs/dialog.tsx'
import { PartLanguageContext } from '../parts/part-language.ts'
import { ownTrustedTypes } from '../shell/trusted-types.ts'
import '../styles/tokens.css'
import { PortalApp } from './portal-app.tsx'
import { takeLink } from './portal-link.ts'

async function draw(root: HTMLElement): Promise<void> {
  const { token, language: wanted } = takeLink()
  const spoken = await loadLanguage({ link: wanted, browser: navigator.languages })
  const { language, words, formats } = spoken
  document.documentElement.lang = language
  const ofParts = { ...words.parts, relativeTime: formats.relative, exactTime: formats.time }
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={createQueryClient()}>
        <LanguageProvider value={spoken}>
          <PartLanguageContext value={ofParts}>
            <PortalApp token={token} />
          </PartLanguageContext>
        </LanguageProvider>
      </QueryClientProvider>
    </StrictMode>,
  )
  loadDialogsLater()
}

ownTrustedTypes('/portal/assets/')
const root = document.getElementById('root')
if (root) void draw(root)
