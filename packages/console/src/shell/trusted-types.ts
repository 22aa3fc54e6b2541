/**
 * The one Trusted Types policy that the page’s content security policy allows. No text becomes markup or a script. Only
 * the page’s own files may be loaded as scripts.
 */
interface TrustedTypes {
  createPolicy(name: string, rules: Record<string, (input: string) => string>): unknown
}

/** Called once, before any other code runs. In browsers without Trusted Types it does nothing. */
export function ownTrustedTypes(folder: '/console/assets/' | '/portal/assets/'): void {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes }
  trustedTypes?.createPolicy('fantail', {
    createScriptURL: (address) => {
      const url = new URL(address, location.href)
      if (url.origin === location.origin && url.pathname.startsWith(folder)) return address
      throw new TypeError(`not a file of this page: ${url.href}`)
    },
  })
}
