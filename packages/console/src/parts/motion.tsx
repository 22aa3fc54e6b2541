/** Movement on a page: an item that comes into view, and a box that keeps what follows it in its place. */
import { type ReactNode, useEffect, useRef } from 'react'
import css from './parts.module.css'

/** Scrolls the row around an item sidewards, so that the item stands in its middle. The page itself does not move. */
export function scrollIntoRow(item: Element | null | undefined): void {
  const row = item?.parentElement
  if (!item || !row) return
  const [own, other] = [row.getBoundingClientRect(), item.getBoundingClientRect()]
  row.scrollLeft += other.left - own.left - (own.width - other.width) / 2
}

/** A box that grows with its content and never shrinks. What follows it therefore does not move under the pointer. */
export function SteadyBox({ children }: { children: ReactNode }) {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = box.current
    if (!element) return
    let width = element.offsetWidth
    const observer = new ResizeObserver(() => {
      // In another width the text has other lines, so the height starts again.
      if (element.offsetWidth !== width) element.style.minHeight = ''
      width = element.offsetWidth
      element.style.minHeight = `${element.offsetHeight}px`
    })
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return (
    <div ref={box} className={css.steady}>
      {children}
    </div>
  )
}
