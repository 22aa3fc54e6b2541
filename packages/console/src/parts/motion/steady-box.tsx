/** A box that grows with its content and never shrinks. What follows it therefore does not move under the pointer. */
import { type ReactNode, useEffect, useRef } from 'react'
import css from '../parts.module.css'

export function SteadyBox({ children }: { children: ReactNode }) {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = box.current
    if (!element) return
    let width = element.offsetWidth
    const observer = new ResizeObserver(() => {
      // In another width the text has other lines, so the height begins anew.
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
