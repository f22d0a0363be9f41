package till

import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.flow.MutableStateFlow
import kotlinx.coroutines.flow.update
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.sync.Mutex
import kotlinx.coroutines.sync.withLock

/** Whole: what belongs together is changed while a coroutine has the lock. */
class Basket {
    private val mutex = Mutex()
    private var items = 0
    private var weight = 0
    private val last = MutableStateFlow(0)

    suspend fun put(more: Int) = mutex.withLock {
        items++
        weight += more
    }

    fun tryPut(more: Int): Boolean {
        if (!mutex.tryLock()) {
            return false
        }
        try {
            items++
            weight += more
            return true
        } finally {
            mutex.unlock()
        }
    }

    suspend fun average(): Int = mutex.withLock { if (items == 0) 0 else weight / items }

    fun remember(more: Int) = last.update { it + more }
}

/** Torn: the lock is given up between the look and what depends on it. */
class Shelf {
    private val mutex = Mutex()
    private var left = 100

    suspend fun take() {
        val now = mutex.withLock { left }
        walk()
        mutex.withLock { left = now - 1 }
    }

    private fun walk() {
        Thread.sleep(1)
    }
}

object Shop {
    @JvmStatic
    fun open() = runBlocking {
        val basket = Basket()
        val shelf = Shelf()
        List(4) { number ->
            launch(Dispatchers.Default) {
                repeat(25) {
                    basket.put(number)
                    basket.tryPut(number)
                    basket.average()
                    basket.remember(number)
                    shelf.take()
                }
            }
        }.joinAll()
    }
}
