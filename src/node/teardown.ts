/** What has been started, to be stopped in the opposite order, once. */
export class Teardown {
  readonly #steps: (() => void | Promise<void>)[] = []
  #running: Promise<void> | undefined

  add(step: () => void | Promise<void>): void {
    this.#steps.push(step)
  }

  /** Every step runs, also when one before it fails; the first failure is thrown at the end. */
  run(): Promise<void> {
    this.#running ??= this.#run()
    return this.#running
  }

  async #run(): Promise<void> {
    const failures: unknown[] = []
    for (const step of this.#steps.toReversed()) {
      try {
        await step()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }
}
