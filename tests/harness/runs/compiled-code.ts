import { fileURLToPath } from 'node:url'

/**
 * Folder in which Node keeps compiled code for all processes of a test run. It lies in the checkout and not in the
 * temporary folder, where another user of the machine could put code of their own.
 */
export const COMPILED_CODE = fileURLToPath(new URL('../../../node_modules/.cache/compiled', import.meta.url))
