import { loadAsset } from '@tandem/web/assets.ts'
import { EXPLORER_PATH } from '@tandem/web/site.ts'
import type { PageContext } from './page-route.ts'

/** Path below which the explorer serves its own assets. */
export const EXPLORER_ASSETS_PATH = `${EXPLORER_PATH}/assets`

/** Script of pages that ask a wallet of the browser. */
export const WALLET_SCRIPT = loadAsset(new URL('./assets/', import.meta.url), 'wallet', 'js', EXPLORER_ASSETS_PATH)

const TOKEN_DECIMALS = 18

/** Chain that a wallet is asked to add (EIP-3085); the page's script adds the address of the pages, and takes it for `RPC_PATH`. */
export const walletChain = ({ rules, site }: Pick<PageContext, 'rules' | 'site'>): string =>
  JSON.stringify({
    chainId: `0x${rules.chainId.toString(16)}`,
    chainName: rules.tandem ? `Tandem ${site.network}` : site.network,
    nativeCurrency: { name: site.symbol, symbol: site.symbol, decimals: TOKEN_DECIMALS },
    rpcUrls: site.rpcUrl === undefined ? [] : [site.rpcUrl],
    blockExplorerUrls: [],
  })
