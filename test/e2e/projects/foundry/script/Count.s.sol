// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Counter} from "../src/Counter.sol";
import {vm} from "./Vm.sol";

/// Three transactions that depend on each other.
contract Count {
    bool public constant IS_SCRIPT = true;

    function run() external returns (Counter counter) {
        vm.startBroadcast();
        counter = new Counter();
        counter.setNumber(42);
        counter.increment();
        vm.stopBroadcast();
        require(counter.number() == 43, "number");
    }
}
