import { loadAsset } from '@tandem/web/assets.ts'
import { EXPLORER_PATH } from '@tandem/web/site.ts'

/** Path below which the explorer serves its own assets. */
export const EXPLORER_ASSETS_PATH = `${EXPLORER_PATH}/assets`

/** Script of pages that ask a wallet of the browser. */
export const WALLET_SCRIPT = loadAsset(new URL('./assets/', import.meta.url), 'wallet', 'js', EXPLORER_ASSETS_PATH)
