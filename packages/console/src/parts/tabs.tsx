/** Tabs of a screen, of which one is shown. The address names the open tab. */
import type { ReactNode } from 'react'
import { Tabs as AriaTabs, Tab, TabList, TabPanel } from 'react-aria-components'
import { scrollIntoRow } from './motion.tsx'
import css from './parts.module.css'

interface Props {
  label: string
  selected: string
  onSelect: (id: string) => void
  tabs: readonly { id: string; title: string; content: ReactNode }[]
}

export function Tabs({ label, selected, onSelect, tabs }: Props) {
  return (
    <AriaTabs className={css.tabs} selectedKey={selected} onSelectionChange={(key) => onSelect(String(key))}>
      <TabList aria-label={label}>
        {tabs.map(({ id, title }) => (
          <Tab key={id} id={id} ref={id === selected ? scrollIntoRow : undefined}>
            {title}
          </Tab>
        ))}
      </TabList>
      {tabs.map(({ id, content }) => (
        <TabPanel key={id} id={id}>
          {content}
        </TabPanel>
      ))}
    </AriaTabs>
  )
}
