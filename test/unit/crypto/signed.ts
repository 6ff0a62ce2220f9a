import { type Hex, hexToBytes } from '@tandem/base/bytes.ts'
import { privateKeyToAccount } from 'viem/accounts'

export const signer = privateKeyToAccount(`0x${'46'.repeat(32)}`)
export const SIGNER: Hex = '0x9d8a62f656a8d1615c1294fd71e9cfb3e4855a4f'

type Request = Parameters<typeof signer.signTransaction>[0]

/** The network form of a transaction signed by an independent library. */
export const signed = async (request: Request): Promise<Uint8Array> => hexToBytes(await signer.signTransaction(request))

const to = `0x${'22'.repeat(20)}` as const
const common = { to, gas: 21_000n, nonce: 5, value: 10n ** 18n } as const
const typed = { ...common, maxFeePerGas: 30n * 10n ** 9n, maxPriorityFeePerGas: 1n, chainId: 1_998_999 } as const

/** One of each type, by name. */
export const eachType = async (): Promise<Record<string, Uint8Array>> => {
  const authorization = await signer.signAuthorization({ contractAddress: to, chainId: 1, nonce: 3 })
  const accessList = [{ address: to, storageKeys: [`0x${'01'.repeat(32)}` as const] }]
  return {
    'legacy without protection': await signed({ ...common, type: 'legacy', gasPrice: 1n }),
    'legacy with EIP-155': await signed({ ...common, type: 'legacy', gasPrice: 25n * 10n ** 9n, chainId: 1_998_999 }),
    'legacy on chain 1': await signed({ ...common, type: 'legacy', gasPrice: 1n, chainId: 1 }),
    'legacy with long data': await signed({
      ...common,
      type: 'legacy',
      gasPrice: 1n,
      chainId: 300,
      data: `0x${'ab'.repeat(40_000)}`,
    }),
    'type 1': await signed({ ...common, type: 'eip2930', gasPrice: 1n, chainId: 20_250_217, accessList }),
    'type 2': await signed({ ...typed, type: 'eip1559', accessList }),
    'type 2, creation': await signed({ ...typed, type: 'eip1559', to: undefined, data: '0x6000' } as Request),
    'type 3': await signed({
      ...typed,
      type: 'eip4844',
      maxFeePerBlobGas: 1n,
      blobVersionedHashes: [`0x01${'00'.repeat(31)}`],
    } as Request),
    'type 4': await signed({ ...typed, type: 'eip7702', authorizationList: [authorization] }),
  }
}
