import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.beans.factory.support.RootBeanDefinition;

/** One thread gets a bean that a factory bean makes, another one destroys that singleton: the object is taken out of its cache in a second step. */
public class SpringFactoryBean {
    public static void main(String[] arguments) throws Exception {
        DefaultListableBeanFactory beans = new DefaultListableBeanFactory();
        beans.registerBeanDefinition("bean", new RootBeanDefinition(Maker.class));
        Rounds.race(300, 2, number -> new Runnable[] {
            () -> {
                for (int i = 0; i < 10; i++) {
                    beans.getBean("bean");
                }
            },
            () -> {
                for (int i = 0; i < 10; i++) {
                    beans.destroySingleton("bean");
                }
            },
        });
    }

    public static final class Maker implements FactoryBean<Object> {
        @Override
        public Object getObject() {
            return new Object();
        }

        @Override
        public Class<?> getObjectType() {
            return Object.class;
        }

        @Override
        public boolean isSingleton() {
            return true;
        }
    }
}
