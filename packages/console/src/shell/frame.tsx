/** The frame of every screen: navigation, status light, theme, palette, keys. */
import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router'
import { useLayoutEffect, useMemo, useRef, useState } from 'react'
import { togglePause, usePaused } from '../api/pause.ts'
import { words } from '../i18n/en.ts'
import { Dialog } from '../parts/dialogs/dialog.tsx'
import { scrollIntoRow } from '../parts/motion/scroll-into-row.ts'
import css from './frame.module.css'
import { Palette } from './palette.tsx'
import { LogOut } from './session-gate.tsx'
import { GO_TO, useShortcuts } from './shortcuts.ts'
import { RedriveLight, StatusLight } from './status-light.tsx'
import { nextTheme, useTheme } from './theme.ts'

const TITLES = new Map<string, string>([...GO_TO.map(({ to, page }) => [to, words.pages[page]] as const)])

export function Frame() {
  const [open, setOpen] = useState<'palette' | 'help'>()
  const navigate = useNavigate()
  const shortcuts = useMemo(
    () => ({
      goTo: (to: string) => void navigate({ to }),
      openPalette: () => setOpen('palette'),
      openHelp: () => setOpen('help'),
      togglePause,
    }),
    [navigate],
  )
  useShortcuts(shortcuts)
  const nav = useNewPage()
  const close = () => setOpen(undefined)
  return (
    <div className={css.frame}>
      <a className={css.skip} href="#main">
        {words.skipToContent}
      </a>
      <header className={css.top}>
        <Link to="/" className={css.brand}>
          <svg viewBox="0 0 16 16" width="18" height="18" aria-hidden="true">
            <path d="M2 14 8 2l6 12-6-4z" fill="currentColor" />
          </svg>
          {words.product}
        </Link>
        <nav ref={nav} className={css.nav} aria-label={words.shell.navigation}>
          {GO_TO.map(({ to, page }) => (
            <Link key={to} to={to} activeOptions={{ exact: to === '/' }}>
              {words.pages[page]}
            </Link>
          ))}
        </nav>
        <Tools openPalette={shortcuts.openPalette} openHelp={shortcuts.openHelp} />
      </header>
      <main id="main" className={css.main} tabIndex={-1}>
        <Outlet />
      </main>
      <Palette isOpen={open === 'palette'} onClose={close} />
      <Dialog title={words.keys.title} isOpen={open === 'help'} onClose={close}>
        <KeyList />
      </Dialog>
    </div>
  )
}

function Tools({ openPalette, openHelp }: { openPalette: () => void; openHelp: () => void }) {
  const theme = useTheme()
  const isPaused = usePaused()
  return (
    <div className={css.tools}>
      {isPaused && <span className="unseen">{words.shell.paused}</span>}
      <RedriveLight />
      <StatusLight />
      <LogOut />
      <button type="button" className={css.tool} onClick={openPalette}>
        {words.shell.search} <kbd>Ctrl K</kbd>
      </button>
      <button type="button" className={css.tool} onClick={nextTheme} aria-label={words.shell.theme[theme]}>
        <span aria-hidden="true">{theme === 'dark' ? '☾' : theme === 'light' ? '☀' : '◐'}</span>
      </button>
      <button type="button" className={css.tool} onClick={openHelp} aria-label={words.shell.keysHelp}>
        <span aria-hidden="true">?</span>
      </button>
    </div>
  )
}

/**
 * Sets the title of a new page, before the page sets a better one. Screen readers read the title. In a narrow window
 * the navigation is scrolled to the page.
 */
function useNewPage() {
  const nav = useRef<HTMLElement>(null)
  const path = useRouterState({ select: (state) => state.location.pathname })
  useLayoutEffect(() => {
    const parts = path.split('/').filter(Boolean)
    const page = TITLES.get(`/${parts[0] ?? ''}`) ?? words.pages.overview
    const rest = parts.slice(1).map(decodeURIComponent)
    document.title = [...rest.toReversed(), page, words.product].join(' · ')
    scrollIntoRow(nav.current?.querySelector('[data-status="active"]'))
  }, [path])
  return nav
}

function KeyList() {
  const lines: [string[], string][] = [
    [['Ctrl', 'K'], words.keys.palette],
    [['?'], words.keys.help],
    [['/'], words.keys.filter],
    [['j', 'k'], words.keys.rows],
    [['Enter'], words.keys.open],
    [['p'], words.keys.pause],
    [['Esc'], words.keys.back],
    ...GO_TO.map(({ key, page }): [string[], string] => [['g', key], words.keys.goTo(words.pages[page])]),
  ]
  return (
    <dl className={css.help}>
      {lines.map(([keys, meaning]) => [
        <dt key={meaning}>
          {keys.map((key) => (
            <kbd key={key}>{key}</kbd>
          ))}
        </dt>,
        <dd key={`${meaning}=`}>{meaning}</dd>,
      ])}
    </dl>
  )
}
