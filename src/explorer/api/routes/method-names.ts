import type { Hex } from '../../../util/bytes.ts'

/** Names of the functions that most transactions call, by their first four bytes. */
const NAMES: Readonly<Record<Hex, string>> = {
  '0xa9059cbb': 'transfer',
  '0x23b872dd': 'transferFrom',
  '0x095ea7b3': 'approve',
  '0x40c10f19': 'mint',
  '0xa0712d68': 'mint',
  '0x42966c68': 'burn',
  '0x79cc6790': 'burnFrom',
  '0x42842e0e': 'safeTransferFrom',
  '0xb88d4fde': 'safeTransferFrom',
  '0xf242432a': 'safeTransferFrom',
  '0x2eb2c2d6': 'safeBatchTransferFrom',
  '0xa22cb465': 'setApprovalForAll',
  '0xd505accf': 'permit',
  '0xd0e30db0': 'deposit',
  '0x2e1a7d4d': 'withdraw',
  '0xac9650d8': 'multicall',
  '0x5ae401dc': 'multicall',
  '0x38ed1739': 'swapExactTokensForTokens',
  '0x7ff36ab5': 'swapExactETHForTokens',
  '0x18cbafe5': 'swapExactTokensForETH',
}

export const methodName = (methodId: Hex | null): string | null =>
  methodId === null ? null : (NAMES[methodId] ?? null)
